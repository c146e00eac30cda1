import * as v from 'valibot'
import { address } from '#contract/address-field.ts'
import { Network } from '#contract/network.ts'
import { isFamilyScope, readOwners, type WalletOwnerRecord } from '../db/wallet-owners.ts'
import { familyOfAddress, registerWallet, releaseWallet } from '../wallets/ownership.ts'
import { read, readAccount, UsageError, type Commands, type Values } from './command-line.ts'

const addresses = v.pipe(
  v.string(),
  v.transform((text) => text.split(',').map((part) => part.trim())),
  v.array(address),
)

export const ownerCommands: Commands = {
  'wallet register': {
    options: ['account', 'wallet', 'network'],
    async run({ db, now }, values) {
      const accountId = readAccount(values)
      const network = read(values, 'network', [
        v.nullish(Network.entries.network, null),
        'the CAIP-2 id of the chain of a contract, such as eip155:8453',
      ])
      const wallets = readAddresses(values)
      if (network !== null && wallets.some((wallet) => familyOfAddress(wallet) !== 'evm'))
        throw new UsageError(
          '--network: expected EVM wallets with it. A wallet on Solana belongs to one account on every cluster.',
        )
      // In one order, so that two operators at once do not wait for each other; all of them or none.
      const registered = await db.transaction(async (tx) => {
        const rows: WalletOwnerRecord[] = []
        for (const wallet of [...new Set(wallets)].sort())
          rows.push(
            (
              await registerWallet(
                { db: tx, now },
                { accountId, address: wallet, network, proof: 'operator' },
              )
            ).owner,
          )
        return rows
      })
      return { value: registered.map(factsOf), text: registered.map(describeOwner).join('\n') }
    },
  },
  'wallet release': {
    options: ['wallet'],
    async run({ db, now }, values) {
      const released = await db.transaction(async (tx) => {
        const rows: WalletOwnerRecord[] = []
        for (const wallet of [...new Set(readAddresses(values))].sort())
          rows.push(...(await releaseWallet({ db: tx, now }, wallet, 'operator')))
        return rows
      })
      const text = released.map(
        (row) =>
          `${row.address} belongs to no account from now on${placeOf(row)}. It belonged to ${row.accountId}.`,
      )
      return { value: released.map(factsOf), text: text.join('\n') }
    },
  },
  'wallet owners': {
    options: ['account'],
    async run({ db }, values) {
      const owners = await readOwners(db, values.account)
      return {
        value: owners.map(factsOf),
        text: owners.map(describeOwner).join('\n') || 'No account owns a wallet.',
      }
    },
  },
}

function readAddresses(values: Values): string[] {
  return read(values, 'wallet', [addresses, 'addresses of wallets, with commas'])
}

function factsOf({ accountId, address: wallet, scope, kind, proof, createdAt }: WalletOwnerRecord) {
  return {
    accountId,
    address: wallet,
    network: isFamilyScope(scope) ? null : scope,
    kind,
    proof,
    createdAt,
  }
}

function describeOwner(row: WalletOwnerRecord): string {
  return [
    row.accountId,
    row.address,
    row.scope,
    row.kind,
    `by ${row.proof}`,
    row.createdAt.toISOString(),
  ].join('  ')
}

function placeOf({ scope }: WalletOwnerRecord): string {
  return isFamilyScope(scope) ? '' : ` on ${scope}`
}
