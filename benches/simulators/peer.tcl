# The benchmark's scenarios for ns-2 (2.35), nothing traced:  ns peer.tcl FLOWS SECONDS LOSS
#
# FLOWS = 1: one link, 1 Gbps, 10 ms, queue 1000. More: a dumbbell with that link in the middle and an access
# link of 1 Gbps and 1 ms for each end of each flow. Prints the data packets that were delivered in order.
foreach {flows seconds loss} $argv break

# Each packet carries every header that the simulator knows unless told so; this halves its time.
remove-all-packet-headers
add-packet-header IP TCP Flags

set ns [new Simulator]
Queue set limit_ 1000
Agent/TCP set window_ 1000000
Agent/TCP set maxcwnd_ 0
# With the 40 bytes of header that the agent adds, 1500 on the wire.
Agent/TCP set packetSize_ 1460

# $a and $b joined both ways.
proc join_nodes {a b delay} {
    global ns
    $ns duplex-link $a $b 1Gb $delay DropTail
}

# A bulk transfer with SACK from $a to $b that begins at $at; answers the sender.
proc bulk {a b at} {
    global ns
    set tcp [new Agent/TCP/Sack1]
    set sink [new Agent/TCPSink/Sack1/DelAck]
    $ns attach-agent $a $tcp
    $ns attach-agent $b $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $at "$ftp start"
    return $tcp
}

set left [$ns node]
set right [$ns node]
join_nodes $left $right 10ms
if {$loss > 0} {
    set errors [new ErrorModel]
    $errors unit pkt
    $errors set rate_ $loss
    $errors ranvar [new RandomVariable/Uniform]
    $errors drop-target [new Agent/Null]
    $ns link-lossmodel $errors $left $right
}

if {$flows == 1} {
    set senders [list [bulk $left $right 0.0]]
} else {
    set senders {}
    for {set i 0} {$i < $flows} {incr i} {
        set from [$ns node]
        set to [$ns node]
        join_nodes $from $left 1ms
        join_nodes $right $to 1ms
        # All begin within the first second.
        lappend senders [bulk $from $to [expr double($i) / $flows]]
    }
}

proc finish {} {
    global senders
    set delivered 0
    set resent 0
    foreach tcp $senders {
        # ack_ is the highest packet acknowledged in order; the first is 0 (and stands for the SYN).
        incr delivered [expr int([$tcp set ack_])]
        incr resent [expr int([$tcp set nrexmitpack_])]
    }
    puts "{\"data_packets\": $delivered, \"resent\": $resent}"
    exit 0
}
$ns at $seconds "finish"
$ns run
