/** The answer about a connection: the cause that took most of its time, the other causes, what else is worth telling. */

import { causeName } from "../data/causes";
import type { Answer, CauseShare, Certainty, Detail } from "../data/meta";
import { percent, plainSeconds } from "../draw/units";
import { inWords } from "../view/app";

/** Causes with a smaller share of the time are in the bar only. */
const SMALL = 0.05;

export function AnswerPart({ detail }: { detail: Detail }): preact.JSX.Element {
  const { answer, row } = detail;
  if (answer === null) return <p class="quiet">There is no answer about this connection.</p>;
  const first = answer.causes.find((one) => isAnswer(one, answer));
  const others = answer.causes.filter((one) => one !== first && one.share >= SMALL && answer.cause !== "nothing");
  return (
    <>
      <Lead answer={answer} />
      {first !== undefined && <Help of={first} />}
      {others.length + answer.findings.length > 0 && (
        <ul class="findings">
          {others.map((one) => (
            <li key={causeName(one)}>
              <Sure certainty={one.certainty} />
              <div>
                <span>
                  <b>{causeName(one)}</b>: {one.text}
                </span>
                <Help of={one} />
              </div>
              <span class="cost">
                {plainSeconds(one.seconds)} ({percent(one.share)})
              </span>
            </li>
          ))}
          {answer.findings.map((finding) => (
            <li key={finding.text}>
              <Sure certainty={finding.certainty} />
              <span>{finding.text}</span>
            </li>
          ))}
        </ul>
      )}
      {answer.limits.length > 0 && (
        <p class="quiet">
          Not shown {row.vantage === "unknown" ? "here" : inWords("vantage", row.vantage)}: {answer.limits.join("; ")}
        </p>
      )}
    </>
  );
}

function isAnswer(one: CauseShare, answer: Answer): boolean {
  return one.cause === answer.cause && one.by === answer.by;
}

/** How sure, the cause, its time, and the sentence. */
export function Lead({ answer }: { answer: Answer }): preact.JSX.Element {
  return (
    <p class="look">
      <Sure certainty={answer.certainty} />
      <span>
        <b>{causeName(answer)}</b>
        {answer.seconds > 0 ? `: ${plainSeconds(answer.seconds)} (${percent(answer.share)}). ` : ". "}
        {answer.text}
      </span>
    </p>
  );
}

function Help({ of }: { of: CauseShare }): preact.JSX.Element | null {
  if (of.helps.length + of.does_not_help.length === 0) return null;
  return (
    <small class="help">
      {of.helps.length > 0 && `Helps: ${of.helps.join("; ")}. `}
      {of.does_not_help.length > 0 && `Does not help: ${of.does_not_help.join("; ")}.`}
    </small>
  );
}

function Sure({ certainty }: { certainty: Certainty }): preact.JSX.Element {
  return <span class={`sure sure-${certainty}`}>{inWords("certainty", certainty)}</span>;
}
