import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'

const HELPER = new URL('quick-imports.ts', import.meta.url).href
const SERVICE = new URL('../service/service.ts', import.meta.url).href

type Resolved = { asked: number; imports: Record<string, { url: string; format?: string }> }

/**
 * What each import of the service is, in a separate process, and how many of them within our files,
 * drizzle-orm, viem and ox Node resolved.
 */
function importIn(prelude: string): Resolved {
  const program = `
    import { registerHooks } from 'node:module'
    import { writeSync } from 'node:fs'
    let asked = 0
    registerHooks({ resolve: (specifier, context, next) => {
      if (/[/](src|node_modules[/](drizzle-orm|viem|ox))[/]/.test(context.parentURL)) asked++
      return next(specifier, context)
    } })
    ${prelude}
    // The hook that is registered last is called first.
    const imports = {}
    registerHooks({ resolve: (specifier, context, next) => {
      const { url, format } = next(specifier, context)
      if (context.conditions.includes('import')) imports[context.parentURL + ' ' + specifier] = { url, format }
      return { url, format, shortCircuit: true }
    } })
    await import(${JSON.stringify(SERVICE)})
    writeSync(1, JSON.stringify({ asked, imports }))
    process.exit()`
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      cwd: import.meta.dirname,
      maxBuffer: 16_000_000,
    }),
  )
}

test('every import of the service is the same file in the same format, and Node is asked for few of them', () => {
  const plain = importIn('')
  const quick = importIn(
    `const { importQuickly } = await import(${JSON.stringify(HELPER)}); importQuickly()()`,
  )
  expect(quick.imports).toEqual(plain.imports)
  expect(Object.keys(plain.imports).length).toBeGreaterThan(3_000)
  expect(plain.asked).toBeGreaterThan(3_000)
  // Each package and each of our own names once, and what the files of others import besides theirs.
  expect(quick.asked).toBeLessThan(600)
})
