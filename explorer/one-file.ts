import type { Plugin } from "vite";

/** Puts script and style into the page, so that one file is all there is. name: of that file. */
export function oneFile(name: string): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("index.html was not built");
      let style = "";
      let script = "";
      for (const [part, content] of Object.entries(bundle)) {
        if (part === "index.html") continue;
        if (content.type === "chunk") script += content.code;
        else if (part.endsWith(".css")) style += String(content.source);
        else throw new Error(`${part} is neither script nor style, and would have to be loaded`);
        delete bundle[part];
      }
      if (/<\/?script|<!--/i.test(script)) throw new Error("the script would end its own element");
      const html = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>/, "")
        .replace(/<link rel="stylesheet"[^>]*>/, "")
        .replace(/\n\s*/g, "\n");
      page.source = html
        .replace("</head>", () => `<style>${style.trim()}</style>\n</head>`)
        .replace("</body>", () => `<script>${script.trim()}</script>\n</body>`);
      page.fileName = name;
    },
  };
}
