import { expect, test } from 'vitest'
import { readEntry, isForNetwork, type Entry } from '../local-data/address-book/entry.ts'
import { exportAddresses, importAddresses } from '../local-data/address-book/exchange.ts'
import { findLookAlike } from '../local-data/address-book/look-alike.ts'
import {
  findEntry,
  getAddressBook,
  removeEntry,
  replaceAll,
  saveEntry,
} from '../local-data/address-book/store.ts'

const evm = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const solana = '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM'
const acme: Entry = { name: 'Acme', address: evm, family: 'evm', networks: [] }
const bob: Entry = {
  name: 'Bob',
  address: solana,
  family: 'solana',
  networks: ['solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
}

test('an entry is kept in the normal form of its address', () => {
  expect(
    readEntry({
      name: '  Acme\u202e  Ltd ',
      address: evm.toLowerCase(),
      networks: ['eip155:1', 'eip155:1', 'solana:x'],
    }),
  ).toEqual({
    ok: true,
    entry: { name: 'Acme Ltd', address: evm, family: 'evm', networks: ['eip155:1'] },
  })
})

test.each([
  [{ name: '', address: evm }, 'no_name'],
  [{ name: '\u200b', address: evm }, 'no_name'],
  [{ name: 'x', address: evm.replace('C8', 'c8') }, 'bad_checksum'],
  [{ name: 'x', address: '0x12' }, 'not_an_address'],
  [{ name: 'x' }, 'not_an_entry'],
  [null, 'not_an_entry'],
])('%j is refused: %s', (value, problem) => {
  expect(readEntry(value)).toEqual({ ok: false, problem })
})

test('an entry without networks is for all of its family', () => {
  expect([
    isForNetwork(acme, 'eip155:31337'),
    isForNetwork(acme, 'solana:x'),
    isForNetwork(bob, 'solana:x'),
  ]).toEqual([true, false, false])
})

test('the same ends on another address are a look-alike, the address itself is not', () => {
  const twin = `0x7099${'a'.repeat(32)}79c8`
  expect(findLookAlike(twin, [acme, bob])).toBe(acme)
  expect(findLookAlike(evm, [acme, { address: twin }])).toBeUndefined()
  expect(findLookAlike(`9WzD${'1'.repeat(36)}AwwM`, [acme, bob])).toBe(bob)
  expect(findLookAlike(`0x7098${'a'.repeat(32)}79c8`, [acme])).toBeUndefined()
})

test('a removed entry comes back by its undo, and the book stays in the order of names', () => {
  saveEntry(bob)
  saveEntry(acme)
  expect(getAddressBook().map(({ name }) => name)).toEqual(['Acme', 'Bob'])
  const undo = removeEntry(evm)
  expect(findEntry(evm)).toBeUndefined()
  undo()
  expect(findEntry(evm)).toEqual(acme)
  saveEntry({ ...acme, name: 'Zed' })
  expect(getAddressBook().map(({ name }) => name)).toEqual(['Bob', 'Zed'])
})

test('an undo brings one entry back, and leaves what was added or changed since', () => {
  replaceAll([acme, bob])
  const undo = removeEntry(evm)
  const cleo = { ...acme, name: 'Cleo', address: '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC' }
  saveEntry(cleo)
  saveEntry({ ...bob, name: 'Robert' })
  undo()
  expect(getAddressBook().map(({ name }) => name)).toEqual(['Acme', 'Cleo', 'Robert'])

  const undoImport = replaceAll([{ ...acme, name: 'Acme Ltd' }, bob, cleo])
  saveEntry({ ...bob, name: 'Bobby' })
  undoImport()
  expect(getAddressBook().map(({ name }) => name)).toEqual(['Acme', 'Bobby', 'Cleo'])

  const undoRemoval = removeEntry(evm)
  saveEntry({ ...acme, name: 'Acme again' })
  undoRemoval()
  expect(findEntry(evm)?.name).toBe('Acme again')
})

test('a book that was written out reads back as it was; what is wrong in a file is named and the rest taken', () => {
  expect(importAddresses(exportAddresses([acme, bob]), [])).toEqual({
    ok: true,
    result: { entries: [acme, bob], added: 2, changed: 0, refused: [] },
  })
  const file = JSON.stringify({
    format: 'paydesk-address-book',
    entries: [
      { name: 'x', address: 'y' },
      { ...bob, name: 'Robert' },
    ],
  })
  expect(importAddresses(file, [acme, bob])).toEqual({
    ok: true,
    result: {
      entries: [acme, { ...bob, name: 'Robert' }],
      added: 0,
      changed: 1,
      refused: [{ line: 1, problem: 'not_an_address' }],
    },
  })
  for (const text of ['', '{}', '[]', '{"format":"other","entries":[]}'])
    expect(importAddresses(text, [])).toEqual({ ok: false })
})
