# One run of an ns-2.35 one-way agent:  ns run.tcl OUT VARIANT AGE KEY=VALUE ...   writes OUT.tr and OUT.st
#
# VARIANT: tahoe reno newreno sack vegas.  AGE: old (1998) or new (2.35's defaults).
# KEY: drops, ackdrops (ordinals from 0, on FH-BS and MH-BS), q (queue limit), end (s), outage (down,up,... of BS-MH, s),
#      seed, delack (1), maxpkts (written at 0 s), more (time,packets,...), Class:variable (set before agents are made).
# Topology FH - BS - MH: 1.5 Mb 10 ms, 0.8 Mb 100 ms, DropTail.
set out [lindex $argv 0]; set variant [lindex $argv 1]; set age [lindex $argv 2]
array set o {drops {} ackdrops {} q 50 end 8 outage {} seed 2 delack 0 maxpkts {} more {}}
foreach kv [lrange $argv 3 end] {
    set i [string first = $kv]
    set o([string range $kv 0 [expr $i-1]]) [string range $kv [expr $i+1] end]
}
ns-random $o(seed)
set ns [new Simulator]

Agent/TCP set window_ 50
Agent/TCP set packetSize_ 1024
Agent/TCP set useHeaders_ false
Agent/TCPSink set packetSize_ 40
if {$age eq "old"} {
    Agent/TCP set syn_ false
    Agent/TCP set delay_growth_ false
    Agent/TCP set windowInit_ 1
    Agent/TCP set tcpTick_ 0.1
    Agent/TCP set minrto_ 0
    Agent/TCP set maxrto_ 64
    Agent/TCP set rtxcur_init_ 6.0
    Agent/TCP set singledup_ 0
    Agent/TCP set rfc2988_ false
    Agent/TCP set precisionReduce_ false
    Agent/TCP/Newreno set newreno_changes1_ 0
    Agent/TCP/Newreno set partial_window_deflation_ 0
}
foreach key [array names o *:*] {
    set colon [string last : $key]
    [string range $key 0 [expr $colon-1]] set [string range $key [expr $colon+1] end] $o($key)
}

set trace [open $out.tr w]
$ns trace-all $trace
set fh [$ns node]; set bs [$ns node]; set mh [$ns node]
$ns duplex-link $fh $bs 1.5Mb 10ms DropTail
$ns duplex-link $bs $mh 0.8Mb 100ms DropTail
foreach {a b} [list $fh $bs $bs $fh $bs $mh $mh $bs] { $ns queue-limit $a $b $o(q) }

set agent [new Agent/TCP[string map {tahoe {} reno /Reno newNewreno /Newreno sack /Sack1 vegas /Vegas} \
    [string map {newreno newNewreno} $variant]]]
set sink [new Agent/TCPSink[expr {$variant eq "sack" ? "/Sack1" : ""}][expr {$o(delack) ? "/DelAck" : ""}]]
$ns attach-agent $fh $agent
$ns attach-agent $mh $sink
$ns connect $agent $sink
set state [open $out.st w]
$agent attach $state
foreach v {cwnd_ ssthresh_ dupacks_ rtt_ backoff_} { $agent trace $v }

proc lose {a b ordinals} {
    if {$ordinals eq ""} return
    set em [new ErrorModel/List]
    $em droplist [split $ordinals ,]
    $em drop-target [new Agent/Null]
    [Simulator instance] lossmodel $em $a $b
}
lose $fh $bs $o(drops)
lose $mh $bs $o(ackdrops)
if {$o(outage) ne ""} {
    foreach link [list [$ns link $bs $mh] [$ns link $mh $bs]] {
        $link dynamic
        foreach {down up} [split $o(outage) ,] { $ns at $down "$link down"; $ns at $up "$link up" }
    }
}
set ftp [new Application/FTP]
$ftp attach-agent $agent
if {$o(maxpkts) ne ""} { $ns at 0.0 "$ftp produce $o(maxpkts)" } else { $ns at 0.0 "$ftp start" }
foreach {at packets} [split $o(more) ,] { $ns at $at "$ftp producemore $packets" }
$ns at $o(end) "close $trace; close $state; exit 0"
$ns run
