/** The selected packet: as tcpdump writes it, why it was sent, and what proves that. */

import { useEffect, useState } from "preact/hooks";
import { tcpdump } from "../data/describe";
import type { FlowData } from "../data/flow";
import type { Packets } from "../data/packets";
import { grouped } from "../draw/units";
import { proofOf } from "../data/proof";
import { type Repair, repairOf } from "../data/repairs";
import { change, failed, inWords, packetNumber, store } from "../view/app";

export function Inspector({ data }: { data: FlowData }): preact.JSX.Element {
  const { detail } = data;
  const selected = packetNumber.value;
  const found = data.find(selected);
  const repair = useRepair(data, selected);
  if (found === null) {
    return (
      <section class="inspector none" aria-label="Selected packet">
        <h3>Packet</h3>
        <p class="quiet">Click a packet to select it.</p>
      </section>
    );
  }
  const { packets, row } = found;
  const proof = proofOf(packets, row, (cause) => inWords("cause", cause));
  const facts = [
    packets.lost[row] === 1 ? "this copy was lost" : "",
    packets.episode[row] > 0 ? `in episode ${packets.episode[row]}` : "",
    packets.flight[row] >= 0 ? `${grouped(packets.flight[row])} B in flight` : "",
    ...(repair === null ? [] : repairWords(repair)),
  ].filter(Boolean);
  return (
    <section class="inspector" aria-label="Selected packet">
      <h3>
        Packet {selected}
        <button type="button" class="link" onClick={() => change({ packet: null })}>
          clear
        </button>
      </h3>
      <code>{tcpdump(packets, row, detail.row)}</code>
      {facts.length > 0 && <p>{facts.join(", ")}</p>}
      {proof !== null && (
        <ul>
          {proof.sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {proof !== null && <Links rows={[...proof.copies, ...proof.told.slice(-3), proof.needless]} packets={packets} />}
    </section>
  );
}

function repairWords({ trigger, evidence, proof, backoff }: Repair): string[] {
  return [
    trigger === "" ? "" : `set off by ${inWords("trigger", trigger)}`,
    evidence === "" || evidence === "none" ? "" : `known by ${inWords("evidence", evidence)}`,
    backoff > 0 ? `back-off ${backoff}` : "",
    proof === "" ? "" : `needless by ${inWords("needless_proof", proof)}`,
  ];
}

/** What the analysis says of the selected packet; null while it comes, and of what was not sent again. */
function useRepair(data: FlowData, packet: number | null): Repair | null {
  const [repair, set] = useState<Repair | null>(null);
  const name = data.detail.retransmissions;
  useEffect(() => {
    set(null);
    const from = store.value;
    if (packet === null || name === null || from === null) return;
    let wanted = true;
    from.blob(name).then((table) => wanted && set(repairOf(table, packet)), failed);
    return () => {
      wanted = false;
    };
  }, [name, packet]);
  return repair;
}

function Links({ rows, packets }: { rows: number[]; packets: Packets }): preact.JSX.Element | null {
  const numbers = rows.filter((row) => row >= 0).map((row) => packets.packet[row]);
  if (numbers.length === 0) return null;
  return (
    <p class="links">
      {"see packet "}
      {numbers.map((number) => (
        <button type="button" class="link" key={number} onClick={() => change({ packet: number })}>
          {number}
        </button>
      ))}
    </p>
  );
}
