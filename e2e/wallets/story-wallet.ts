import type { BrowserContext, Page } from '@playwright/test'
import { ProviderError, userRejected } from '#devnet/demo-wallet/owner.ts'

/** What a story tells a wallet to do at its next approval. */
type Approval = 'approve' | 'reject' | 'hang'

/** A reply as the page gets it: plain data, because errors with a code do not cross into the page. */
type Reply = { result: unknown } | { error: { code: number; message: string; data?: unknown } }

/** Waits for what the story decided: returns on approval, throws on rejection, never settles when the wallet is left open. */
export async function decide(approval: Approval): Promise<void> {
  if (approval === 'reject') throw userRejected()
  if (approval === 'hang') await new Promise<never>(() => {})
}

/** Runs in the page, and uses nothing outside of itself. */
function askOutside(binding: string) {
  return async (method: string, params: unknown): Promise<unknown> => {
    const reply: Reply = await Reflect.get(window, binding)(method, params)
    if ('result' in reply) return reply.result
    const { message, code, data } = reply.error
    throw Object.assign(new Error(message), { code, data })
  }
}

/** A wallet whose owner is the story. The keys and all decisions stay outside of the page. */
export abstract class StoryWallet<Account extends { address: string }> {
  connecting: Approval = 'approve'
  signing: Approval = 'approve'
  /** Runs when the approval window of a transaction opens. */
  onApproval: (() => Promise<void>) | undefined
  readonly requests: string[] = []
  readonly #binding: string
  readonly #accounts: readonly Account[]
  readonly #pages = new Set<Page>()
  #selected = 0
  #connected = false

  constructor(binding: string, accounts: readonly Account[]) {
    this.#binding = binding
    this.#accounts = accounts
  }

  protected abstract answer(method: string, params: unknown): Promise<unknown>

  get address(): Account['address'] {
    return this.selected.address
  }

  protected get selected(): Account {
    const account = this.#accounts[this.#selected]
    if (!account) throw new Error('The wallet has no account there.')
    return account
  }

  protected get addresses(): Account['address'][] {
    return this.#accounts.map(({ address }) => address)
  }

  protected select(index: number): void {
    this.#selected = index
  }

  async account(): Promise<Account | undefined> {
    return this.#connected ? this.selected : undefined
  }

  async connect(): Promise<Account> {
    await decide(this.connecting)
    this.#connected = true
    return this.selected
  }

  disconnect(): void {
    this.#connected = false
  }

  async approve({ kind }: { kind: string }): Promise<void> {
    if (kind === 'transaction') await this.onApproval?.()
    await decide(this.signing)
  }

  /** `script`: the page's part, which has `ask` and returns what `tell` calls. */
  protected async installScript(context: BrowserContext, script: string): Promise<void> {
    const binding = JSON.stringify(this.#binding)
    await context.exposeBinding(this.#binding, ({ page }, method: string, params: unknown) => {
      this.#pages.add(page)
      this.requests.push(method)
      return this.#reply(method, params)
    })
    const content = `{ const ask = (${askOutside})(${binding}); window[${binding} + 'Tell'] = ${script} }`
    await context.addInitScript({ content })
  }

  /** Tells every page that asked something of the wallet. */
  protected async tell(...values: unknown[]): Promise<void> {
    for (const page of this.#pages) {
      if (page.isClosed()) continue
      await page.evaluate(([name, given]) => void Reflect.get(window, name)?.(...given), [
        `${this.#binding}Tell`,
        values,
      ] as const)
    }
  }

  async #reply(method: string, params: unknown): Promise<Reply> {
    try {
      return { result: (await this.answer(method, params)) ?? null }
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      const known = error instanceof ProviderError ? error : new ProviderError(-32603, text)
      const { code, message, data } = known
      return { error: { code, message, data } }
    }
  }
}
