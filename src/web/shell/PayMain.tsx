import type { ReactNode } from 'react'

/** The one column of a checkout: what is loading stands where the page will. */
export function PayMain({ children }: { children: ReactNode }) {
  return (
    <main
      className="mx-auto flex w-full max-w-[520px] flex-1 flex-col px-4 py-4 outline-none sm:py-12"
      id="main"
      tabIndex={-1}
    >
      {children}
    </main>
  )
}
