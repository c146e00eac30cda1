import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const HELPER = new URL('quick-imports.ts', import.meta.url).href

/**
 * What a separate process imports from the packages, and how many imports within drizzle-orm,
 * viem and ox Node resolved.
 */
function importIn(prelude: string): { names: string[]; asked: number } {
  const program = `
    import { registerHooks } from 'node:module'
    let asked = 0
    registerHooks({ resolve: (specifier, context, next) => {
      if (/[/]node_modules[/](drizzle-orm|viem|ox)[/]/.test(context.parentURL)) asked++
      return next(specifier, context)
    } })
    ${prelude}
    const parts = await Promise.all(['drizzle-orm', 'drizzle-orm/pg-core', 'drizzle-orm/node-postgres', 'viem'].map((name) => import(name)))
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
  expect(quick.names).toEqual(expect.arrayContaining(['eq', 'keccak256']))
  expect(plain.asked).toBeGreaterThan(1_000)
  // Other packages that the files import, as `pg`.
  expect(quick.asked).toBeLessThan(150)
})
