module layout

go 1.22
