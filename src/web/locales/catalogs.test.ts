import { getCatalogs } from '@lingui/cli/api'
import { getConfig } from '@lingui/conf'
import { expect, test } from 'vitest'

/** `npm run i18n:extract` brings the catalogs up to date; what is then missing has to be translated. */

const config = getConfig({ configPath: new URL('lingui.config.ts', import.meta.url).pathname })
const catalogs = await getCatalogs(config)

/** A plural's words stand inside braces; a value's name is all that its braces hold. */
const valuesIn = (message: string) =>
  new Set([...message.matchAll(/\{(\w+)(?:, plural|\})/g)].map(([, name]) => name))
const elementsIn = (message: string) =>
  [...message.matchAll(/<\/?\w+\/?>/g)].map(([tag]) => tag).toSorted()

test.each(
  catalogs.map((catalog) => [catalog.name ?? catalog.path.split('/').at(-1), catalog] as const),
)(
  'the catalogs %s hold every message of the code, and no other, in every language',
  async (_, catalog) => {
    const found = await catalog.collect({})
    expect(found).toBeDefined()
    const written = await catalog.readAll()
    for (const locale of config.locales) {
      const messages = written[locale] ?? {}
      const kept = Object.entries(messages).filter(([, { obsolete }]) => !obsolete)
      expect({ locale, ids: kept.map(([id]) => id).toSorted() }).toEqual({
        locale,
        ids: Object.keys(found ?? {}).toSorted(),
      })
      if (locale === config.sourceLocale) continue
      for (const [, { message = '', translation = '' }] of kept) {
        expect({ locale, message, missing: translation === '' }).toEqual({
          locale,
          message,
          missing: false,
        })
        expect({ locale, message, elements: elementsIn(translation) }).toEqual({
          locale,
          message,
          elements: elementsIn(message),
        })
        if (!message.includes('plural'))
          expect({ locale, message, values: valuesIn(translation) }).toEqual({
            locale,
            message,
            values: valuesIn(message),
          })
      }
    }
  },
  60_000,
)

test('a message that several catalogs hold is the same in all of them: whichever is loaded last is what is shown', async () => {
  const translations = new Map<string, Set<string>>()
  for (const catalog of catalogs) {
    for (const [locale, messages] of Object.entries(await catalog.readAll())) {
      for (const [id, { translation = '', message }] of Object.entries(messages ?? {})) {
        const key = `${locale}: ${message ?? id} (${id})`
        translations.set(key, (translations.get(key) ?? new Set()).add(translation))
      }
    }
  }
  expect(
    [...translations].filter(([, said]) => said.size > 1).map(([key, said]) => [key, ...said]),
  ).toEqual([])
})

/** Terms, and figures with a unit, that a language writes as English does. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  es: [
    '64 bytes, base58',
    'Bucket',
    'Lamports',
    'Local',
    'Memo',
    'Plan',
    'Proxy',
    'Slot',
    'Slot {figure}',
    'Subtotal',
    'Total',
    'URL',
    'Webhooks',
    'memo',
    'nonce {nonce}',
    'slot {slot}',
    'token',
    '{amount} lamports',
    '{durationMs} ms',
    '{first} (UTC)',
    '{minutes} min',
    '{minutes} min {seconds} s',
    '{seconds} s',
    '{title}. {body}',
  ],
  'zh-CN': ['Facilitator', 'Webhooks', 'memo', 'nonce {nonce}'],
}

test.each(Object.keys(SAME))('in %s only terms are left as they are in English', async (locale) => {
  const same = new Set<string>()
  for (const catalog of catalogs)
    for (const { message = '', translation } of Object.values(
      (await catalog.readAll())[locale] ?? {},
    ))
      if (message === translation) same.add(message)
  expect([...same].toSorted()).toEqual(SAME[locale])
})
