module interrupted

go 1.20
