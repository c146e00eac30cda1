import type { Family } from '#contract/address.ts'
import { connected, remember, setup, type Person } from './people.ts'
import { requestApproval } from './approval-dialog.ts'

/** Lets the person choose an account for this page; `undefined` when they refuse. */
export async function chooseAccount(family: Family): Promise<Person | undefined> {
  const { people } = await setup()
  const answer = await requestApproval({
    title: 'Connect this page?',
    explanation: `${location.host} will see the address of the account you choose, and may ask you to sign.`,
    choices: people.map((person) => ({
      label: person.name,
      detail: person[family].address,
      value: person.name,
    })),
    approve: 'Connect',
  })
  if (answer === undefined) return undefined
  remember(family, answer)
  return connected(family)
}
