module qos-bench-go

go 1.19
