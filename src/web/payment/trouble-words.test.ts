import { readdir, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { actionFor, describeTrouble, describeUnsigned, troubles, type TroubleName, type WalletSignal } from './trouble-words.ts'

const names = Object.keys(troubles) as TroubleName[]

test.each(names)('%s has words, and offers only what its policy allows', (name) => {
  const { action, retry } = troubles[name]
  const { code, title, body } = describeTrouble(name, 'Phantom')
  expect(code).toBe(name.toUpperCase())
  expect(title.length).toBeGreaterThan(5)
  expect(body).toMatch(/\.$/)
  expect(`${title} ${body}`).not.toMatch(/!|undefined|\{\w+\}|[A-Z_]{6,}/)
  expect(actionFor(code)).toBe(action)
  // What may have left is never signed, sent or prepared anew, and nobody is told that nothing was sent.
  if (retry === 'look_first') expect(action).toBe('wait')
  expect(/nothing was (built and nothing was )?(signed and nothing was )?sent/i.test(body)).toBe(retry !== 'look_first')
  if (retry === 'never') expect(['change', 'none']).toContain(action)
})

test('no two troubles of one kind sound the same', () => {
  const titles = names.map((name) => describeTrouble(name, 'Phantom').title)
  expect(new Set(titles).size).toBe(titles.length)
})

test('a wallet that was asked for a signature alone has sent nothing, however it failed', () => {
  for (const name of ['rejected', 'timeout', 'unclear', 'rpc_down', 'unauthorized'] satisfies WalletSignal[]) {
    const { code, title, body } = describeUnsigned(name, 'Phantom')
    expect({ code, title }).toEqual({ code: name.toUpperCase(), title: describeTrouble(name, 'Phantom').title })
    expect(body).toContain('Nothing was sent.')
  }
})

test('a code of the service has no action here', () => {
  for (const code of ['INVALID_RECIPIENT', 'constructor', '']) expect(actionFor(code)).toBeUndefined()
})

test('no page has words of its own for a code', async () => {
  const pages = new URL('../pages/', import.meta.url)
  const files = (await readdir(pages, { recursive: true })).filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
  expect(files.length).toBeGreaterThan(50)
  for (const file of files)
    expect({ file, own: /code: '[A-Z_]+',\s*title:/.exec(await readFile(new URL(file, pages), 'utf8'))?.[0] }).toEqual({ file, own: undefined })
})
