import { readFileSync } from 'node:fs'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { slimEndpointTables } from './src/web/build/endpoint-tables.ts'
import { staticPages } from './src/web/build/static-pages.ts'
import { translations } from './src/web/locales/macros.ts'

/**
 * The web app as static files. Every address in the build is relative to where the app lives, which each page finds by itself: one build serves
 * any base path.
 */
export default defineConfig({
  base: './',
  plugins: [translations(), slimEndpointTables(), react(), tailwindcss(), staticPages(pagePaths())],
  build: {
    outDir: 'dist',
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Nothing inline: the page's policy allows neither inline scripts nor data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // What every first visit needs is one file: it compresses better than twenty, and comes in one round trip.
    rolldownOptions: { output: { codeSplitting: { groups: [{ name: 'shell', tags: ['$initial'] }] } } },
  },
})

/** The addresses of src/web/paths.ts, read from its text: its words are messages, which only the build itself can run. */
function pagePaths(): string[] {
  const text = readFileSync(new URL('src/web/paths.ts', import.meta.url), 'utf8')
  return [...text.matchAll(/path: '(\/[^']*)'/g)].map(([, path = '']) => path)
}
