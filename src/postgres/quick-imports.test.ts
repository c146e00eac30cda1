import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const HELPER = new URL('quick-imports.ts', import.meta.url).href

/**
 * What a separate process imports from the packages, and how many imports within drizzle-orm Node
 * resolved.
 */
function importIn(prelude: string): { names: string[]; asked: number } {
  const program = `
    import { registerHooks } from 'node:module'
    let asked = 0
    registerHooks({ resolve: (specifier, context, next) => {
      if (context.parentURL?.includes('/node_modules/drizzle-orm/')) asked++
      return next(specifier, context)
    } })
    ${prelude}
    const parts = await Promise.all(['drizzle-orm', 'drizzle-orm/pg-core', 'drizzle-orm/node-postgres'].map((name) => import(name)))
    console.log(JSON.stringify({ names: parts.flatMap((part) => Object.keys(part)), asked }))`
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      cwd: import.meta.dirname,
    }),
  )
}

test('imports the same from the packages, and asks Node for none of the files within', () => {
  const plain = importIn('')
  const quick = importIn(
    `const { importQuickly } = await import(${JSON.stringify(HELPER)}); importQuickly()()`,
  )
  expect(quick.names).toEqual(plain.names)
  expect(quick.names).toContain('eq')
  // The rest are other packages that its files import: `pg`.
  expect(plain.asked).toBeGreaterThan(100)
  expect(quick.asked).toBeLessThan(10)
})
