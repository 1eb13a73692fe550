module gotrace.test/library

go 1.20
