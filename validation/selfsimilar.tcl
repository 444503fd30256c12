# The scenario of study `selfsimilar` for ns-2 (2.35):  ns selfsimilar.tcl tahoe|newreno|vegas|sack SEED
#
# A dumbbell of 50 Mbps and 25 ms with ten packets of queue; one TCP flow fed with 6.2 Mbps in packets of 1000
# bytes; 38 Pareto ON/OFF sources, each on a host of its own. Prints what of the flow came to the bottleneck,
# what was dropped there, and what was sent again.
foreach {variant seed} $argv break

ns-random $seed
set ns [new Simulator]
Agent/TCP set packetSize_ 1000
Agent/TCP set window_ 2000
Agent/UDP set packetSize_ 1000

set west [$ns node]
set east [$ns node]
$ns duplex-link $west $east 50Mb 25ms DropTail
$ns queue-limit $west $east 10
$ns queue-limit $east $west 10

# A host behind $router.
proc host {router} {
    global ns
    set node [$ns node]
    $ns duplex-link $node $router 100Mb 6ms DropTail
    $ns queue-limit $node $router 1000
    $ns queue-limit $router $node 1000
    return $node
}

array set agents {tahoe Agent/TCP newreno Agent/TCP/Newreno vegas Agent/TCP/Vegas sack Agent/TCP/Sack1}
set tcp [new $agents($variant)]
set sink [expr {$variant eq "sack" ? [new Agent/TCPSink/Sack1] : [new Agent/TCPSink]}]
$tcp set fid_ 1
$ns attach-agent [host $west] $tcp
$ns attach-agent [host $east] $sink
$ns connect $tcp $sink
set source [new Application/Traffic/CBR]
$source set packetSize_ 1000
$source set rate_ 6.2Mb
$source attach-agent $tcp
$ns at 0.0 "$source start"

set rng [new RNG]
$rng seed $seed
for {set k 0} {$k < 38} {incr k} {
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $udp set fid_ 2
    $ns attach-agent [host $west] $udp
    $ns attach-agent [host $east] $null
    $ns connect $udp $null
    set pareto [new Application/Traffic/Pareto]
    $pareto set packetSize_ 1000
    $pareto set burst_time_ 500ms
    $pareto set idle_time_ 500ms
    $pareto set rate_ 1000k
    $pareto set shape_ 1.2
    $pareto attach-agent $udp
    $ns at [$rng uniform 0 1] "$pareto start"
}

set monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $west $east] $monitor 0
$ns at 100 {
    foreach flow [$monitor flows] {
        if {[$flow set flowid_] == 1} {
            puts "$variant $seed came [$flow set parrivals_] dropped [$flow set pdrops_] again [$tcp set nrexmitpack_]"
        }
    }
    exit 0
}
$ns run
