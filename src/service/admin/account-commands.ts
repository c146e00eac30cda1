import * as v from 'valibot'
import { address } from '#contract/fields.ts'
import { PLANS, type Plan } from '#contract/api-key-body.ts'
import { Network } from '#contract/network.ts'
import { isFamilyScope, readOwners, type WalletOwnerRecord } from '../db/wallet-owners.ts'
import { changePlan, chooseFacilitators, createAccount, listAccounts } from '../keys/accounts.ts'
import { familyOfAddress, registerWallet, releaseWallet } from '../wallets/ownership.ts'
import {
  readAccount,
  readFacilitators,
  readName,
  readPermitted,
  readPlan,
  type Commands,
  read,
  UsageError,
  type Values,
} from './command-line.ts'

export const accountCommands: Commands = {
  'account create': {
    options: ['name', 'plan', 'scopes'],
    async run({ db }, values) {
      const input = {
        name: readName(values),
        plan: readPlan(values),
        scopes: readPermitted(values),
      }
      const { id } = await createAccount(db, input)
      return {
        value: { id, ...input },
        text: `Account ${id} (${input.name}, ${input.plan}) is open.`,
      }
    },
  },
  'account list': {
    options: [],
    async run({ db, now }) {
      const accounts = await listAccounts(db, now)
      const lines = accounts.map(({ id, name, plan, scopes, validKeys }) =>
        [
          id,
          plan,
          `"${name}"`,
          scopes?.join(',') ?? 'all',
          `${validKeys} valid ${validKeys === 1 ? 'key' : 'keys'}`,
        ].join('  '),
      )
      return { value: accounts, text: lines.join('\n') || 'There are no accounts.' }
    },
  },
  'account plan': {
    options: ['account', 'plan', 'scopes'],
    async run({ db }, values) {
      const input = {
        accountId: readAccount(values),
        plan: readPlan(values),
        scopes: readPermitted(values),
      }
      await changePlan(db, input)
      const text = `Account ${input.accountId} has the plan ${input.plan} from now on, with ${input.scopes?.join(', ') ?? 'all scopes'}; its keys have at most that.`
      return { value: input, text }
    },
  },
  'account facilitators': {
    options: ['account', 'facilitators'],
    async run({ db }, values) {
      const input = { accountId: readAccount(values), facilitators: readFacilitators(values) }
      await chooseFacilitators(db, input)
      return {
        value: input,
        text: `Account ${input.accountId} may have payments verified by ${input.facilitators?.join(', ') ?? 'the facilitators of the service'}.`,
      }
    },
  },
  'plan list': {
    options: [],
    run: () => {
      const plans = (Object.keys(PLANS) as Plan[]).map((plan) => ({ plan, ...PLANS[plan] }))
      const lines = plans.map(({ plan, requestsPerMinute, webSockets, messagesPerSecond }) =>
        [
          plan,
          `${requestsPerMinute} requests a minute`,
          `${webSockets} WebSockets`,
          `${messagesPerSecond} messages a second`,
        ].join('  '),
      )
      return Promise.resolve({ value: plans, text: lines.join('\n') })
    },
  },
}

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
