/**
 * How many calls of one kind are under way at once. Each call counts under one name in every scope;
 * what is over its limit is refused, and waits nowhere.
 */
export class ConcurrencyLimit<Scope extends string> {
  readonly #limits: Readonly<Record<Scope, number>>
  readonly #open = new Map<string, number>()

  constructor(limits: Readonly<Record<Scope, number>>) {
    this.#limits = limits
  }

  /** Runs `work` at once, or not at all: tells the limit that is used up, the first in their order. */
  async pass<T>(
    names: Readonly<Record<Scope, string>>,
    work: () => Promise<T>,
  ): Promise<{ refused: null; value: T } | { refused: Scope }> {
    const scopes = Object.keys(this.#limits) as Scope[]
    const keyOf = (scope: Scope) => `${scope} ${names[scope]}`
    const openOf = (scope: Scope) => this.#open.get(keyOf(scope)) ?? 0
    const refused = scopes.find((scope) => openOf(scope) >= this.#limits[scope])
    if (refused !== undefined) return { refused }
    for (const scope of scopes) this.#open.set(keyOf(scope), openOf(scope) + 1)
    try {
      return { refused: null, value: await work() }
    } finally {
      for (const scope of scopes) {
        const left = openOf(scope) - 1
        if (left > 0) this.#open.set(keyOf(scope), left)
        else this.#open.delete(keyOf(scope))
      }
    }
  }
}
