import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { staticPages } from './src/web/build/static-pages.ts'
import { translations } from './src/web/locales/macros.ts'
import { pagePaths } from './src/web/router/page-paths.ts'

/**
 * The web app as static files. Every address in the build is relative to where the app lives, which each page finds by itself: one build serves
 * any base path.
 */
export default defineConfig({
  base: './',
  // React has had this hook since its version 18: the copy for older ones is left out.
  resolve: { alias: [{ find: /^use-sync-external-store\/shim$/, replacement: 'react' }] },
  plugins: [translations(), react(), tailwindcss(), staticPages(Object.values(pagePaths))],
  build: {
    outDir: 'dist',
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Nothing inline: the page's policy allows neither inline scripts nor data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Slow plugins are no news of a build.
      checks: { pluginTimings: false },
      // What every first visit needs is one file: it compresses better than twenty, and comes in one round trip. So is what nearly every page begins with, and what six parts of the app or more share.
      output: {
        codeSplitting: {
          groups: [
            { name: 'shell', tags: ['$initial'] },
            {
              name: 'page',
              test: /src\/web\/(ui\/Banner|session\/SessionEnded|shell\/PageHeading)\.tsx$/,
            },
            {
              name: 'common',
              test: /src\/(web\/(ui|shell|local-data|locales|errors|api|router)|contract)\//,
              minShareCount: 6,
            },
          ],
        },
      },
    },
  },
})
