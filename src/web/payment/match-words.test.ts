import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { msg } from '@lingui/core/macro'
import { afterEach, expect, test } from 'vitest'
import { i18n } from '../locales/i18n.ts'
import { PHRASES, sayMatch } from './match-words.ts'

afterEach(() => i18n.activate('en'))

const SAYERS = ['../../chains', '../../service/proofs', '../pages/verify'].map((folder) => join(import.meta.dirname, folder))
const money = ''

test('every phrase is one that a comparison says', async () => {
  const files = await Promise.all(SAYERS.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => join(folder, name))))
  const sources = files.flat().filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  const said = (await Promise.all(sources.map((path) => readFile(path, 'utf8')))).join('\n')
  expect(Object.keys(PHRASES).filter((phrase) => !said.includes(phrase))).toEqual([])
})

test('phrases, amounts and gas come in the reader’s language, what is not known as it is', () => {
  expect(['at most 1234.500000000000000315 ETH', '0.1 SOL', '12 blocks', 'a plain transfer with 21000 gas'].map(sayMatch)).toEqual([
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
  expect(['at most 1234.50 ETH', 'a plain transfer with 21000 gas', 'transfer, memo', 'transfer, something else'].map(sayMatch)).toEqual([
    'como máximo 1.234,50 ETH',
    'una transferencia simple, with 21.000 gas',
    'transferencia, memo',
    'transfer, something else',
  ])
  for (const text of [
    '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
    'constructor',
    '',
    '1 of the smallest units of another token',
    'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  ])
    expect(sayMatch(text)).toBe(text)
})
