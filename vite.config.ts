import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { slimEndpointTables } from './src/web/build/endpoint-tables.ts'
import { translations } from './src/web/locales/macros.ts'

/**
 * The web app as static files. Every address in the build is relative, so one build serves any base path;
 * index.html's <base> is the only place that names it.
 */
export default defineConfig({
  base: './',
  plugins: [translations(), slimEndpointTables(), react(), tailwindcss()],
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
