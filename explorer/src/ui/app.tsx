/** The page: what stands at the top of it, and the part that the address names. */

import {
  announced,
  chosen,
  episodeNumber,
  failure,
  flow,
  flowNumber,
  go,
  isAcross,
  meta,
  page,
  store,
  theme,
  type Theme,
} from "../view/app";
import type { Page } from "../view/place";
import { ComparisonPage } from "./comparison";
import { EpisodePage } from "./episode";
import { FlowPage } from "./flow";
import { Overview } from "./overview";
import { StudyPage } from "./study";
import { SweepPage } from "./sweep";

const PARTS: Record<Page, () => preact.JSX.Element> = {
  overview: () => <Overview />,
  flow: () => <FlowPage />,
  episode: () => <EpisodePage />,
  comparison: () => <ComparisonPage />,
  study: () => <StudyPage />,
  sweep: () => <SweepPage />,
};

export function App(): preact.JSX.Element {
  if (store.value === null) {
    return <main class="page">{failure.value ?? "This page holds no report: rexmit report writes one into it."}</main>;
  }
  return (
    <>
      <a class="skip" href="#main" onClick={skip}>
        Skip to the content
      </a>
      <Header />
      <main id="main" class={`page page-${page.value}`} tabIndex={-1}>
        {failure.value !== null && (
          <p class="failure" role="alert">
            {failure.value}
          </p>
        )}
        {PARTS[page.value]()}
      </main>
      <Footer />
      <div class="unseen" aria-live="polite">
        {announced.value}
      </div>
    </>
  );
}

/** The address holds the place, and must not become `#main`. */
function skip(event: MouseEvent): void {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

function Header(): preact.JSX.Element {
  const wanted = flowNumber.value;
  const episode = episodeNumber.value;
  const { title, kind } = meta();
  const many = (flow.value?.detail.episodes.length ?? 0) > 0;
  return (
    <header class="bar">
      <span class="mark" aria-hidden="true">
        rexmit
      </span>
      <h1 title={title}>{title}</h1>
      <nav aria-label="Parts of the report">
        {kind === "study" && <Part to="study" words="Study" />}
        {kind === "sweep" && <Part to="sweep" words="Sweep" />}
        {meta().comparison !== null && <Part to="comparison" words="Comparison" />}
        {meta().sources.length > 0 && <Part to="overview" words="Overview" />}
        {wanted !== null && <Part to="flow" words="Flow" />}
        {many && wanted !== null && (
          <Part to="episode" words={page.value === "episode" ? `Episode ${(episode ?? 0) + 1}` : "Episode"} />
        )}
      </nav>
      <ThemeSwitch />
    </header>
  );
}

function Part({ to, words }: { to: Page; words: string }): preact.JSX.Element {
  const here = page.value === to;
  const episode = to === "episode" ? (episodeNumber.value ?? worstEpisode()) : episodeNumber.value;
  return (
    <button type="button" aria-current={here ? "page" : undefined} onClick={() => !here && go({ page: to, episode, ...flowOf(to) })}>
      {words}
    </button>
  );
}

/** Side by side the episode may be of what stands beside the flow that the address names. */
function flowOf(to: Page): { source?: number; flow?: number } {
  const of = to === "episode" && isAcross.value && episodeNumber.value !== null ? chosen.value : null;
  return of === null ? {} : { source: of.data.source.id, flow: of.data.detail.flow };
}

function worstEpisode(): number {
  const found = [...(flow.value?.detail.episodes ?? [])].sort((a, b) => (b.cost_s ?? 0) - (a.cost_s ?? 0));
  return found[0]?.number ?? 0;
}

const THEMES: [Theme, string][] = [
  ["auto", "Auto"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function ThemeSwitch(): preact.JSX.Element {
  return (
    <div class="switch" role="group" aria-label="Colours">
      {THEMES.map(([name, words]) => (
        <button type="button" key={name} aria-pressed={theme.value === name} onClick={() => (theme.value = name)}>
          {words}
        </button>
      ))}
    </div>
  );
}

function Footer(): preact.JSX.Element {
  const { version, command, anonymized } = meta();
  return (
    <footer>
      <span>{version}</span>
      <code>{command}</code>
      {anonymized && <span>addresses, names and paths are replaced</span>}
    </footer>
  );
}
