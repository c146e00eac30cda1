import { expect, test } from 'vitest'
import { devnetWallets, seedPayers, solanaKeypair } from './wallets.ts'

test('the mnemonic gives the accounts that MetaMask and Phantom import', () => {
  const { buyer, seller } = devnetWallets()
  // The first two accounts of the mnemonic, as every Ethereum development node prints them.
  expect(buyer.evm.address).toBe('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')
  expect(seller.evm.address).toBe('0x70997970C51812dc3A010C7d01b50e0d17dc79C8')
  // m/44'/501'/0'/0' of the same mnemonic.
  expect(buyer.solana.address).toBe('oeYf6KAJkLYhBuR8CiGc6L4D4Xtfepr85fuDgA9kq96')
  expect(solanaKeypair(seller.solana).publicKey.toBase58()).toBe(seller.solana.address)
})

test('nobody shares an account', () => {
  const everyone = [...Object.values(devnetWallets()), ...seedPayers()].flatMap(
    ({ evm, solana }) => [evm.address, solana.address],
  )
  expect(new Set(everyone).size).toBe(everyone.length)
})
