import { expect, test } from 'vitest'
import {
  actionFor,
  describeUserError,
  describeUnsigned,
  errorMessages,
  type UserErrorName,
  type WalletSignal,
} from './error-messages.ts'

const names = Object.keys(errorMessages) as UserErrorName[]

test.each(names)('%s says that nothing was sent exactly where that is certain', (name) => {
  const { action, retry } = errorMessages[name]
  const { code, title, body } = describeUserError(name, 'Phantom')
  expect(code).toBe(name.toUpperCase())
  expect(`${title} ${body}`).not.toMatch(/undefined|\{\w+\}/)
  expect(actionFor(code)).toBe(action)
  // Of what may have left, nobody is told that nothing was sent.
  expect(/nothing was (built and nothing was )?(signed and nothing was )?sent/i.test(body)).toBe(
    retry !== 'look_first',
  )
})

test('a wallet that was asked for a signature alone has sent nothing, however it failed', () => {
  for (const name of [
    'rejected',
    'timeout',
    'unclear',
    'rpc_down',
    'unauthorized',
  ] satisfies WalletSignal[]) {
    const { code, title, body } = describeUnsigned(name, 'Phantom')
    expect({ code, title }).toEqual({
      code: name.toUpperCase(),
      title: describeUserError(name, 'Phantom').title,
    })
    expect(body).toContain('Nothing was sent.')
  }
})

test('a code of the service has no action here', () => {
  for (const code of ['INVALID_RECIPIENT', 'constructor', ''])
    expect(actionFor(code)).toBeUndefined()
})
