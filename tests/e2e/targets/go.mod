module gotrace.test/targets

go 1.22
