import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'
import { pagePreloads } from './src/web/build/page-preloads.ts'
import { staticPages } from './src/web/build/static-pages.ts'
import { pageChunks } from './src/web/build/page-chunks.ts'
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
  plugins: [
    translations(),
    react(),
    tailwindcss(),
    pageChunks({
      // The table of the proxy's endpoints is fetched with each page that shows one thing.
      isPage: (id) =>
        /\/src\/web\/pages\/[^/]+\/\w+Page\.tsx$|\/src\/contract\/calls\.ts$/.test(id),
      isFirst: (id) => id.endsWith('/OverviewPage.tsx'),
    }),
    pagePreloads(pagePaths),
    staticPages(Object.values(pagePaths)),
  ],
  build: {
    outDir: 'dist',
    target: ['chrome123', 'firefox128', 'safari17.5'],
    // Nothing inline: the page's policy allows neither inline scripts nor data: fonts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // Slow plugins are no news of a build.
      checks: { pluginTimings: false },
    },
  },
})
