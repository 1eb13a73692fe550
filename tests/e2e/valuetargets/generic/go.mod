module generic

go 1.18
