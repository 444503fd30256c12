import { defineConfig, type Plugin } from "vite";

/** Puts script and style into the page, so that one file is all there is. */
function oneFile(): Plugin {
  return {
    name: "one-file",
    enforce: "post",
    generateBundle(_options, bundle) {
      const page = bundle["index.html"];
      if (page?.type !== "asset") throw new Error("index.html was not built");
      let style = "";
      let script = "";
      for (const [name, part] of Object.entries(bundle)) {
        if (name === "index.html") continue;
        if (part.type === "chunk") script += part.code;
        else if (name.endsWith(".css")) style += String(part.source);
        else throw new Error(`${name} is neither script nor style, and would have to be loaded`);
        delete bundle[name];
      }
      if (/<\/?script|<!--/i.test(script)) throw new Error("the script would end its own element");
      const html = String(page.source)
        .replace(/<script type="module"[^>]*><\/script>/, "")
        .replace(/<link rel="stylesheet"[^>]*>/, "")
        .replace(/\n\s*/g, "\n");
      page.source = html
        .replace("</head>", () => `<style>${style.trim()}</style>\n</head>`)
        .replace("</body>", () => `<script>${script.trim()}</script>\n</body>`);
      page.fileName = "explorer.html";
    },
  };
}

export default defineConfig({
  plugins: [oneFile()],
  build: {
    outDir: "../python/rexmit/report",
    emptyOutDir: false,
    target: "es2022",
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: { output: { format: "iife", entryFileNames: "explorer.js" } },
  },
  test: { environment: "node", include: ["tests/**/*.test.ts"] },
} as Parameters<typeof defineConfig>[0]);
