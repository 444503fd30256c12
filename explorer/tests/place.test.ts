import { describe, expect, it } from "vitest";
import { fromFragment, NOWHERE, type Place, toFragment } from "../src/view/place";

describe("an address", () => {
  it("restores what it was made of", () => {
    const places: Place[] = [
      { ...NOWHERE, source: 1, flow: 7 },
      {
        ...NOWHERE,
        page: "flow",
        flow: 2,
        from: 6.1,
        to: 6.800000001,
        low: 100,
        high: 2e9,
        picked: [6.25, 6.5],
        packet: 812,
        episode: 3,
        hidden: ["rtt", "idle"],
        beside: true,
        across: true,
      },
      { ...NOWHERE, page: "flow", flow: 0, from: -0.25, to: 20 },
      { ...NOWHERE, page: "episode", source: 2, flow: 4, episode: 0, scale: "time", packet: 1 },
      { ...NOWHERE, page: "comparison" },
      { ...NOWHERE, page: "study" },
      { ...NOWHERE, page: "sweep", chart: [2, 0, 1, -1, 4] },
    ];
    for (const place of places) expect(fromFragment(toFragment(place))).toEqual(place);
  });

  it("is short where nothing was chosen", () => {
    expect(toFragment({ ...NOWHERE, page: "flow", flow: 2 })).toBe("#flow/3");
    expect(toFragment({ ...NOWHERE, page: "episode", source: 1, flow: 2, episode: 1 })).toBe("#episode/3/2@2");
  });

  it("leaves out what makes no sense", () => {
    expect(fromFragment("#nowhere/0/2")).toBeNull();
    expect(fromFragment("")).toBeNull();
    const odd = fromFragment("#flow/3?t=9,3&y=a,b&p=-4&e=0&hide=<b>,rtt&across=1");
    expect(odd).toEqual({ ...NOWHERE, page: "flow", flow: 2, hidden: ["rtt"] });
  });

  it("opens as it was written before, with capture and flow from 0", () => {
    expect(fromFragment("#flow/0/2?t=1,2")).toEqual({ ...NOWHERE, page: "flow", flow: 2, from: 1, to: 2 });
    expect(fromFragment("#episode/1/4/2")).toEqual({ ...NOWHERE, page: "episode", source: 1, flow: 4, episode: 1 });
    expect(fromFragment("#overview/0/7")).toEqual({ ...NOWHERE, flow: 7 });
    expect(fromFragment("#overview/0")).toEqual(NOWHERE);
  });
});
