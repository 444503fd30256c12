// The benchmark's scenarios for ns-3 (3.37), nothing traced:  peer --flows=N --seconds=S --loss=P
//
// flows = 1: one link, 1 Gbps, 10 ms, queue 1000. More: a dumbbell with that link in the middle and an access
// link of 1 Gbps and 1 ms for each end of each flow. Prints the data packets that were delivered in order.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iostream>
#include <string>
#include <vector>

using namespace ns3;

namespace
{
constexpr uint32_t kSegmentBytes = 1448; // 1500 with IP, TCP and timestamps
constexpr uint16_t kPort = 9;

// What a bulk transfer on such a path needs and ns-3's defaults do not give: buffers beyond the path's
// bandwidth times delay, and full-sized segments. SACK and delayed ACKs are on by default.
void
SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpLinuxReno::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kSegmentBytes));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(8 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(8 << 20));
}

NetDeviceContainer
Join(Ptr<Node> a, Ptr<Node> b, const std::string& delay)
{
    PointToPointHelper link;
    link.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    link.SetChannelAttribute("Delay", StringValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    return link.Install(a, b);
}

// One network of its own for each link.
Ipv4InterfaceContainer
Number(const NetDeviceContainer& devices)
{
    static Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto numbered = addresses.Assign(devices);
    // Assigning puts a queue discipline (FQ-CoDel) in front of the device's own queue.
    TrafficControlHelper().Uninstall(devices);
    addresses.NewNetwork();
    return numbered;
}

Ptr<PacketSink>
Bulk(Ptr<Node> from, Ptr<Node> to, Ipv4Address address, double at)
{
    BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(address, kPort));
    source.SetAttribute("MaxBytes", UintegerValue(0));
    source.SetAttribute("SendSize", UintegerValue(kSegmentBytes));
    source.Install(from).Start(Seconds(at));
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), kPort));
    auto installed = sink.Install(to);
    installed.Start(Seconds(0));
    return DynamicCast<PacketSink>(installed.Get(0));
}
} // namespace

int
main(int argc, char* argv[])
{
    uint32_t flows = 1;
    double seconds = 1;
    double loss = 0;
    CommandLine line(__FILE__);
    line.AddValue("flows", "bulk transfers", flows);
    line.AddValue("seconds", "simulated time", seconds);
    line.AddValue("loss", "chance of each packet to be lost on the middle link, towards the sink", loss);
    line.Parse(argc, argv);
    SetDefaults();

    NodeContainer middle(2);
    NodeContainer sources(flows > 1 ? flows : 0);
    NodeContainer sinks(flows > 1 ? flows : 0);
    InternetStackHelper stack;
    stack.Install(middle);
    stack.Install(sources);
    stack.Install(sinks);

    auto bottleneck = Join(middle.Get(0), middle.Get(1), "10ms");
    auto between = Number(bottleneck);
    if (loss > 0)
    {
        auto errors = CreateObject<RateErrorModel>();
        errors->SetUnit(RateErrorModel::ERROR_UNIT_PACKET);
        errors->SetRate(loss);
        DynamicCast<PointToPointNetDevice>(bottleneck.Get(1))->SetReceiveErrorModel(errors);
    }

    std::vector<Ptr<PacketSink>> received;
    if (flows == 1)
    {
        received.push_back(Bulk(middle.Get(0), middle.Get(1), between.GetAddress(1), 0));
    }
    for (uint32_t i = 0; i < sources.GetN(); ++i)
    {
        Number(Join(sources.Get(i), middle.Get(0), "1ms"));
        auto far = Number(Join(middle.Get(1), sinks.Get(i), "1ms"));
        // All begin within the first second.
        received.push_back(Bulk(sources.Get(i), sinks.Get(i), far.GetAddress(1), double(i) / flows));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    uint64_t bytes = 0;
    for (const auto& sink : received)
    {
        bytes += sink->GetTotalRx();
    }
    std::cout << "{\"data_packets\": " << bytes / kSegmentBytes << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
