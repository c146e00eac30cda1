/** Which of a wallet's accounts is meant: its first, unless the person chose another one and the wallet's first has stayed the same since. */
export class ChosenAccount {
  #choice: { address: string; first: string | undefined } | undefined

  pick(accounts: readonly string[]): string | undefined {
    const choice = this.#choice
    if (choice && choice.first === accounts[0] && accounts.includes(choice.address))
      return choice.address
    this.#choice = undefined
    return accounts[0]
  }

  choose(address: string, accounts: readonly string[]): void {
    this.#choice = { address, first: accounts[0] }
  }

  forget(): void {
    this.#choice = undefined
  }
}
