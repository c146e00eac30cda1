import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { preloadScript } from './page-preloads.ts'

const script = preloadScript(
  new Map([
    ['/', ['assets/overview.js']],
    ['/pay', ['assets/form.js', 'assets/pay.js']],
    ['/pay/:link', ['assets/form.js', 'assets/link.js', 'assets/calls.js']],
  ]),
)

/** The files that the script asks for at an address, where the app lives at `base`. */
function preloadedAt(address: string, base = 'https://shop.example/'): string[] {
  const files: string[] = []
  runInNewContext(script, {
    URL,
    location: new URL(address, base),
    document: {
      baseURI: base,
      createElement: () => ({}),
      head: { append: ({ href }: { href: string }) => files.push(href) },
    },
  })
  return files
}

test('the files of the page at the address are asked for before the shell runs, and no others', () => {
  const link = ['assets/form.js', 'assets/link.js', 'assets/calls.js']
  expect(preloadedAt('/')).toEqual(['assets/overview.js'])
  expect(preloadedAt('/pay?to=0x1')).toEqual(['assets/form.js', 'assets/pay.js'])
  expect(preloadedAt('/pay/aKc1T8iQV6DY')).toEqual(link)
  expect(preloadedAt('pay/aKc1T8iQV6DY', 'https://shop.example/a/payments-app/')).toEqual(link)
  expect(preloadedAt('/#/pay/aKc1T8iQV6DY?pieces=2')).toEqual(link)
  expect(preloadedAt('/pay/a/b')).toEqual([])
})
