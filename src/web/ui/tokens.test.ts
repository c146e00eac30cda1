import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { accentTokens, contrastOf } from '../shell/accent.ts'

const css = readFileSync(new URL('../styles.css', import.meta.url), 'utf8')
const tokens = new Map(
  [...css.matchAll(/--([a-z-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name, light, dark]) => [name, { light, dark }],
  ),
)

const surfaces = ['canvas', 'surface', 'raised', 'sunken', 'hover']

/** Text on what it stands on (4.5:1), and lines or fills that carry meaning beside what surrounds them (3:1). */
const pairs: [string, string, number][] = [
  ...surfaces.flatMap((surface): [string, string, number][] => [
    ['ink', surface, 4.5],
    ['muted', surface, 4.5],
    ['faint', surface, 4.5],
    ['accent', surface, 4.5],
    ['edge', surface, 3],
  ]),
  ...['good', 'warn', 'bad', 'info', 'neutral'].map((tone): [string, string, number] => [
    `${tone}-ink`,
    `${tone}-soft`,
    4.5,
  ]),
  ['accent-ink', 'accent-soft', 4.5],
  ['on-accent', 'accent', 4.5],
  ['on-accent', 'accent-strong', 4.5],
  ['on-bad', 'bad-fill', 4.5],
  ['bad-ink', 'surface', 4.5],
  ['good-ink', 'surface', 4.5],
  ['accent-ink', 'raised', 4.5],
  ['faint', 'neutral-soft', 3],
  ['chart-received', 'surface', 3],
  ['chart-sent', 'surface', 3],
  ['warn-edge', 'surface', 3],
  ['bad-edge', 'surface', 3],
]

test.each(['light', 'dark'] as const)(
  'every pair of colours that meet has the contrast it needs (%s)',
  (theme) => {
    const short = pairs
      .map(([front, back, needed]) => ({
        pair: `${front} on ${back}`,
        needed,
        ratio: contrastOf(colour(front, theme), colour(back, theme)),
      }))
      .filter(({ ratio, needed }) => ratio < needed)
    expect(short).toEqual([])
  },
)

test('contrast is that of WCAG', () => {
  expect(contrastOf('#000000', '#ffffff')).toBe(21)
  expect(contrastOf('#777777', '#ffffff')).toBeCloseTo(4.48, 2)
})

test.each(['#000000', '#ffffff', '#ffcc00', '#0057ff', '#7a4b12', '#ff00ff', '#14573f', '#808080'])(
  'a merchant’s colour %s can be read on every surface, and text on it, in both themes',
  (color) => {
    const own = accentTokens(color)
    const tokenOf = (name: string, theme: 'light' | 'dark') => {
      const [, light, dark] =
        /light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/.exec(own[name] ?? '') ?? []
      return (theme === 'light' ? light : dark) ?? ''
    }
    for (const theme of ['light', 'dark'] as const) {
      const accent = tokenOf('--accent', theme)
      for (const surface of surfaces)
        expect(
          contrastOf(accent, colour(surface, theme)),
          `${theme} ${surface}`,
        ).toBeGreaterThanOrEqual(4.5)
      for (const fill of ['--accent', '--accent-strong'])
        expect(
          contrastOf(tokenOf('--on-accent', theme), tokenOf(fill, theme)),
        ).toBeGreaterThanOrEqual(4.5)
    }
  },
)

test("index.html's theme colours are the canvas", () => {
  const html = readFileSync(new URL('../../../index.html', import.meta.url), 'utf8')
  expect(html).toContain(`(prefers-color-scheme: light)" content="${colour('canvas', 'light')}"`)
  expect(html).toContain(`(prefers-color-scheme: dark)" content="${colour('canvas', 'dark')}"`)
})

test('the script that runs before the first paint reads what the preferences write', () => {
  const script = readFileSync(new URL('../../../public/start.js', import.meta.url), 'utf8')
  const preferences = readFileSync(new URL('../local-data/preferences.ts', import.meta.url), 'utf8')
  const key = /const KEY = '([^']+)'/.exec(preferences)?.[1]
  expect(key).toBeTruthy()
  expect(script).toContain(`'${key}'`)
})

function colour(name: string, theme: 'light' | 'dark'): string {
  const value = tokens.get(name)?.[theme]
  if (!value) throw new Error(`styles.css has no token ${name}.`)
  return value
}
