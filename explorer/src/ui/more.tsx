/** Below a table that shows its first rows: how many more there are, as a terminal says it, and a button for them. */

import { grouped } from "../draw/units";

interface Props {
  shown: number;
  of: number;
  /** How many more the button shows. */
  step: number;
  /** What a row is, of several. */
  noun?: string;
  more: () => void;
}

export function More({ shown, of, step, noun = "rows", more }: Props): preact.JSX.Element | null {
  if (of <= shown) return null;
  return (
    <p class="quiet">
      … {grouped(of - shown)} more {noun}:{" "}
      <button type="button" class="link" onClick={more}>
        show {of - shown > step ? grouped(step) : of - shown === 1 ? "it" : "them"}
      </button>
    </p>
  );
}
