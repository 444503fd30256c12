# One run of paper `wireless`, Table 1 or 2, in ns-2.35 with its settings of 1998; what study `wireless` compares with.
#
#   ns validation/ns2_wireless.tcl VARIANT SEED SECONDS GOOD BAD ACK_GOOD ACK_BAD UP DOWN
#
# VARIANT: tahoe reno newreno sack. GOOD, BAD: mean periods of the two-state error model in packets, of data and of
# ACKs (0: no errors). UP, DOWN: mean times of the wireless link in s, exponential (0: always up).
# Prints: variant, seed, seconds, ACKs received, highest ACK, packets sent, packets resent, time until packets 5000 and
# 9210 were acknowledged (- if not; looked at every 0.1 s), timeouts.
#
#   Table 1:  for s in $(seq 200); do ns validation/ns2_wireless.tcl tahoe $s 200 100 0.08 1000 0.03 0 0; done
#   Table 2:  for s in $(seq 200); do ns validation/ns2_wireless.tcl reno $s 1600 100 0.08 1000 0.03 2 0.3; done
lassign $argv variant seed seconds good bad ack_good ack_bad up down
ns-random $seed
set ns [new Simulator]
foreach {key value} {
    window_ 50 packetSize_ 1024 useHeaders_ false syn_ false delay_growth_ false windowInit_ 1 tcpTick_ 0.1 minrto_ 0
    maxrto_ 64 rtxcur_init_ 6.0 singledup_ 0 rfc2988_ false precisionReduce_ false
} { Agent/TCP set $key $value }
Agent/TCP/Newreno set newreno_changes1_ 0
Agent/TCP/Newreno set partial_window_deflation_ 0
Agent/TCPSink set packetSize_ 40

set fh [$ns node]; set bs [$ns node]; set mh [$ns node]
$ns duplex-link $fh $bs 1.5Mb 10ms DropTail
$ns duplex-link $bs $mh 0.8Mb 100ms DropTail
foreach {a b} [list $fh $bs $bs $fh $bs $mh $mh $bs] { $ns queue-limit $a $b 50 }

array set class {tahoe {} reno /Reno newreno /Newreno sack /Sack1}
set agent [new Agent/TCP$class($variant)]
set sink [new Agent/TCPSink[expr {$variant eq "sack" ? "/Sack1" : ""}]]
$ns attach-agent $fh $agent
$ns attach-agent $mh $sink
$ns connect $agent $sink

if {$good > 0} {
    foreach {a b g d} [list $bs $mh $good $bad $mh $bs $ack_good $ack_bad] {
        set long [new RandomVariable/Exponential]; $long set avg_ $g
        set short [new RandomVariable/Exponential]; $short set avg_ $d
        set model [new ErrorModel/TwoState $long $short pkt]
        $model drop-target [new Agent/Null]
        $ns lossmodel $model $a $b
    }
}
if {$up > 0} {
    # A stream of its own: every variant meets the same outages.
    set rng [new RNG]; $rng seed [expr $seed + 1000]
    foreach {name mean} [list stays_up $up stays_down $down] {
        set $name [new RandomVariable/Exponential]; [set $name] set avg_ $mean; [set $name] use-rng $rng
    }
    set ways [list [$ns link $bs $mh] [$ns link $mh $bs]]
    foreach way $ways { $way dynamic }
    proc go {what} {
        global ns ways stays_up stays_down
        foreach way $ways { $way $what }
        if {$what eq "down"} { $ns after [$stays_down value] "go up" } else { $ns after [$stays_up value] "go down" }
    }
    $ns after [$stays_up value] "go down"
}
set when(5000) -; set when(9210) -
proc look {} {
    global ns agent when
    foreach n {5000 9210} { if {$when($n) eq "-" && [$agent set ack_] >= $n - 1} { set when($n) [$ns now] } }
    $ns after 0.1 look
}
proc finish {} {
    global agent when variant seed seconds
    set counts {}
    foreach name {nackpack_ ack_ ndatapack_ nrexmitpack_} { lappend counts [$agent set $name] }
    puts "$variant $seed $seconds $counts $when(5000) $when(9210) [$agent set nrexmit_]"
    exit 0
}
set ftp [new Application/FTP]
$ftp attach-agent $agent
$ns at 0.0 "$ftp start"
$ns at 0.0 look
$ns at $seconds finish
$ns run
