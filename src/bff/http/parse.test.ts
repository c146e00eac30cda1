import * as v from 'valibot'
import { expect, test } from 'vitest'
import { parseInput as parseOfService } from '#service/api/parse-input.ts'
import { parseInput as parseOfProxy } from './parse.ts'

const raw = { params: {}, query: {} }
const read = { service: parseOfService, proxy: parseOfProxy }

/** `details.reason` is the reason of a refusal, which readers look for by that name. */
test.each(['service', 'proxy'] as const)(
  'a field called reason is told with its part, by the %s',
  (name) => {
    for (const [body, entries] of [
      [{ reason: 1 }, { reason: v.string() }],
      [{ reason: 'unknown here', amount: '1' }, { amount: v.string() }],
    ] as const)
      expect(() => read[name]({ body: v.strictObject(entries) }, { ...raw, body })).toThrow(
        expect.objectContaining({
          facts: expect.objectContaining({ details: { 'body.reason': expect.any(String) } }),
        }),
      )
  },
)
