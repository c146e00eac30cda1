import {
  onward,
  requireOperator,
  spender,
  type BrowserEndpointName,
  type Rule,
} from '../session/rule.ts'

/** What operators alone may read, as the service answers it. */
export function readAsOperator<K extends BrowserEndpointName>(name: K): Rule<K> {
  return async (call) => {
    const { context, visitor } = call
    requireOperator(visitor)
    return context.upstream.read(name, onward(call), () =>
      context.budgets.spend(spender(visitor), 'sync'),
    )
  }
}

/** What operators alone may change, as they wrote it. */
export function writeAsOperator<K extends BrowserEndpointName>(name: K): Rule<K> {
  return async (call) => {
    const { context, visitor } = call
    requireOperator(visitor)
    return context.upstream.write(name, onward(call), () =>
      context.budgets.spend(spender(visitor), 'action'),
    )
  }
}
