module plugins

go 1.20
