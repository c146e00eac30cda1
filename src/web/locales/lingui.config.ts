import { defineConfig } from '@lingui/cli'
import { formatter } from '@lingui/format-po'

const test = '**/*.test.*'
const PAYING = [
  'approval/**',
  'payment-flow/**',
  'payment-intent/**',
  'wallet/**',
  'errors/error-messages.ts',
  'errors/refusals.ts',
  'errors/*-reasons.ts',
].map((path) => `<rootDir>/src/web/${path}`)

/**
 * The texts of the dashboard. English is in the code; `npm run i18n:extract` writes the catalogs to
 * translate beside this file. One catalog per page, so that a reader loads only the texts in view;
 * `desk` holds what every page shows, `paying` what only signing and a payment in progress need,
 * `payment-view` how a payment is shown, `palette` the search of pages and payments. The texts of
 * e-mails are beside the proxy, which reads their catalogs itself.
 */
export default defineConfig({
  rootDir: import.meta.dirname.replace(/\/src\/web\/locales$/, ''),
  sourceLocale: 'en',
  locales: ['en', 'es', 'zh-CN'],
  orderBy: 'message',
  format: formatter({ lineNumbers: false }),
  catalogs: [
    {
      path: '<rootDir>/src/web/locales/{locale}/desk',
      include: ['<rootDir>/src/web'],
      exclude: [
        test,
        ...PAYING,
        '<rootDir>/src/web/palette/**',
        '<rootDir>/src/web/payment-view/**',
        '<rootDir>/src/web/pages/**',
      ],
    },
    { path: '<rootDir>/src/web/locales/{locale}/paying', include: PAYING, exclude: [test] },
    {
      path: '<rootDir>/src/web/locales/{locale}/palette',
      include: ['<rootDir>/src/web/palette'],
      exclude: [test],
    },
    {
      path: '<rootDir>/src/web/locales/{locale}/payment-view',
      include: ['<rootDir>/src/web/payment-view'],
      exclude: [test],
    },
    {
      path: '<rootDir>/src/web/locales/{locale}/{name}',
      include: ['<rootDir>/src/web/pages/{name}'],
      exclude: [test],
    },
    {
      path: '<rootDir>/src/bff/mail/locales/{locale}',
      include: ['<rootDir>/src/bff/mail'],
      exclude: [test, '<rootDir>/src/bff/mail/catalogs.ts'],
    },
  ],
  // The proxy has a function of this name: it runs without a build.
  macro: { corePackage: ['@lingui/core/macro', '#bff/mail/catalogs.ts'] },
  // All files use one instance whose language is set before any other code runs: tests and tables
  // need no provider.
  runtimeConfigModule: {
    i18n: ['#web/locales/i18n.ts', 'i18n'],
    Trans: ['#web/locales/Trans.tsx', 'Trans'],
    useLingui: ['#web/locales/Trans.tsx', 'useLingui'],
  },
})
