import { expect, test } from 'vitest'
import { mergeWallets, safeIcon } from './discover.ts'

test('a wallet that speaks both families is one row', () => {
  const rows = mergeWallets([
    { family: 'evm', id: 'app.phantom', name: 'Phantom' },
    { family: 'solana', id: 'MetaMask', name: 'MetaMask' },
    { family: 'evm', id: 'io.metamask', name: 'MetaMask', icon: 'data:image/png;base64,AA' },
    { family: 'solana', id: 'Phantom', name: 'Phantom ' },
  ])
  expect(rows).toEqual([
    {
      name: 'MetaMask',
      icon: 'data:image/png;base64,AA',
      ids: { solana: 'MetaMask', evm: 'io.metamask' },
    },
    { name: 'Phantom', icon: undefined, ids: { evm: 'app.phantom', solana: 'Phantom' } },
  ])
})

test('two wallets that claim one name on one road stay two rows', () => {
  const rows = mergeWallets([
    { family: 'evm', id: 'io.metamask', name: 'MetaMask' },
    { family: 'evm', id: 'evil.example', name: 'MetaMask' },
  ])
  expect(rows.map(({ ids }) => ids.evm)).toEqual(['io.metamask', 'evil.example'])
})

test('an icon is shown only as a data image', () => {
  expect(safeIcon('data:image/svg+xml;base64,AA')).toBeDefined()
  for (const icon of [
    'https://tracker.example/i.png',
    'javascript:alert(1)',
    'data:text/html,x',
    undefined,
    7,
  ])
    expect(safeIcon(icon)).toBeUndefined()
})
