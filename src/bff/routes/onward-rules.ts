import { onward, spender, type BrowserEndpointName, type Rule } from '../session/rule.ts'

/** What the role of the endpoint is enough for: the service's answer, as it is. */
export function readOnward<K extends BrowserEndpointName>(name: K): Rule<K> {
  return (call) =>
    call.context.upstream.read(name, onward(call), () =>
      call.context.budgets.spend(spender(call.visitor), 'sync'),
    )
}

/** A change that the role of the endpoint is enough for, as it was written. */
export function writeOnward<K extends BrowserEndpointName>(name: K): Rule<K> {
  return (call) =>
    call.context.upstream.write(name, onward(call), () =>
      call.context.budgets.spend(spender(call.visitor), 'action'),
    )
}
