import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { msg } from '@lingui/core/macro'
import { afterEach, expect, test } from 'vitest'
import { i18n } from '../locales/i18n.ts'
import { PHRASES, sayKnown, sayMatch } from './match-words.ts'

afterEach(() => i18n.activate('en'))

const SAYERS = ['../../chains', '../../service/proofs', '../pages/verify'].map((folder) => join(import.meta.dirname, folder))
const money = ''

async function readSayers(): Promise<string[]> {
  const files = await Promise.all(SAYERS.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))))
  const sources = files.flat().filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  return Promise.all(sources.map((path) => readFile(path, 'utf8')))
}

test('every phrase is one that a comparison says', async () => {
  const said = (await readSayers()).join('\n')
  expect(Object.keys(PHRASES).filter((phrase) => !said.includes(phrase))).toEqual([])
})

/** Names of fields, names and signs, which are the same in every language; `7: 7` is where a proof cannot be read, in the words of its reader. */
const NO_WORDS = new Set(['expected', 'got', '', '0x', 'SOL', '7', '7: 7'])

test('all that a comparison says can be said in every language', async () => {
  const values = (await readSayers()).flatMap((source) => [...source.matchAll(/\b(?:expected|got): ((?:'[^'\n]*'|`[^`\n]*`|[^'`,}\n])*)/g)])
  const literals = values.flatMap(([, value = '']) => [...value.matchAll(/'([^']*)'|`([^`]*)`/g)].map(([, plain, template]) => plain ?? template ?? ''))
  // What stands between two values of a list is said with them.
  const texts = literals.map((text) => text.replaceAll(/\$\{[^}]*\}/g, '7')).filter((text) => !/^\W| $|[${]/.test(text))
  expect(texts.length).toBeGreaterThan(150)
  expect(texts.filter((text) => !NO_WORDS.has(text) && sayKnown(text) === undefined)).toEqual([])
})

test('phrases, amounts and gas come in the reader’s language, what is not known as it is', () => {
  expect(['at most 1234.500000000000000315 ETH', '0.1 SOL', '12 blocks', 'a plain transfer with 21000 gas'].map((text) => sayMatch(text))).toEqual([
    'at most 1,234.500000000000000315 ETH',
    '0.1 SOL',
    '12 blocks',
    'a plain transfer, with 21,000 gas',
  ])
  i18n.load('es', {
    [msg`a plain transfer`.id]: ['una transferencia simple'],
    [msg`transfer`.id]: ['transferencia'],
    [msg`at most ${money}`.id]: ['como máximo ', ['money']],
  })
  i18n.activate('es', 'es-ES')
  expect(['at most 1234.50 ETH', 'a plain transfer with 21000 gas', 'transfer, memo', 'transfer, an odd thing'].map((text) => sayMatch(text))).toEqual([
    'como máximo 1.234,50 ETH',
    'una transferencia simple, with 21.000 gas',
    'transferencia, memo',
    'transfer, an odd thing',
  ])
  for (const text of [
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    'constructor',
    '',
    '1 of the smallest units of another token',
    'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  ])
    expect(sayMatch(text)).toBe(text)
  // A memo is a stranger's.
  expect([sayMatch('1000 gas', 'amount'), sayMatch('1000 gas', 'memo'), sayMatch('none', 'memo')]).toEqual(['1.000 gas', '1000 gas', 'none'])
})
