module routers

go 1.21
