import { readFileSync } from 'node:fs'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { slimTables } from './src/web/build/slim-tables.ts'
import { staticPages } from './src/web/build/static-pages.ts'
import { translations } from './src/web/locales/macros.ts'

/**
 * The web app as static files. Every address in the build is relative to where the app lives, which each page finds by itself: one build serves
 * any base path.
 */
export default defineConfig({
  base: './',
  // React has had this hook since its version 18: the copy for older ones is left out.
  resolve: { alias: [{ find: /^use-sync-external-store\/shim$/, replacement: 'react' }] },
  plugins: [translations(), slimTables(), react(), tailwindcss(), staticPages(pagePaths())],
  build: {
    outDir: 'dist',
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Nothing inline: the page's policy allows neither inline scripts nor data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Slow plugins are no news of a build.
      checks: { pluginTimings: false },
      // What every first visit needs is one file: it compresses better than twenty, and comes in one round trip. So is what nearly every page begins with.
      output: {
        codeSplitting: {
          groups: [
            { name: 'shell', tags: ['$initial'] },
            {
              name: 'page',
              test: /src\/web\/(ui\/Banner|session\/SessionEnded|shell\/PageHeading)\.tsx$/,
            },
          ],
        },
      },
    },
  },
})

/** The addresses of src/web/router/paths.ts, read from its text: its words are messages, which only the build itself can run. */
function pagePaths(): string[] {
  const text = readFileSync(new URL('src/web/router/paths.ts', import.meta.url), 'utf8')
  return [...text.matchAll(/path: '(\/[^']*)'/g)].map(([, path = '']) => path)
}
