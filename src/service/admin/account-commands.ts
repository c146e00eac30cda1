import { PLANS, type Plan } from '#contract/api-key.ts'
import { changePlan, chooseFacilitators, createAccount, listAccounts } from '../keys/accounts.ts'
import {
  readAccount,
  readFacilitators,
  readName,
  readPermitted,
  readPlan,
  type Commands,
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
