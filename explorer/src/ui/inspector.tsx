/** The selected packet: as tcpdump writes it, why it was sent, and what proves that. */

import { tcpdump } from "../data/describe";
import type { FlowData } from "../data/flow";
import type { Packets } from "../data/packets";
import { proofOf } from "../data/proof";
import { change, inWords, place } from "../view/app";

export function Inspector({ data }: { data: FlowData }): preact.JSX.Element {
  const { detail } = data;
  const selected = place.value.packet;
  const found = data.find(selected);
  if (found === null) {
    return (
      <section class="inspector" aria-label="Selected packet">
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
    packets.flight[row] >= 0 ? `${packets.flight[row].toLocaleString("en-US")} B in flight` : "",
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
