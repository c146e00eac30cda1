/**
 * The figures that were reached, by bench and measure. One that grows above its figure ends the bench
 * with 2, whether its bar is met or not. A change that lowers a figure lowers it here. What timers and polls
 * add has some room: a round of the watcher falls into a request that takes as long as a block.
 */
export const REACHED: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  rpc: {
    'idle, both networks, per minute, requests': 0,
    'idle, probed each second, per minute, requests': 20,
    '/facilitator/verify, requests': 1,
    '/facilitator/verify, methods': 3,
    '/transaction/send, ETH, requests': 2,
    '/transaction/send, USDC on EVM, requests': 2,
    '/transaction/send, SOL, requests': 2,
    '/transaction/send, USDC on Solana, requests': 2,
    'hosted send until durable, evm, requests': 8,
    'hosted send until durable, solana, requests': 12,
    '/facilitator/settle, requests': 9,
    '20 open drafts, ETH, per second, requests': 3,
    '20 open drafts, SOL, per second, requests': 6,
  },
  sql: {
    'an authenticated request, statements': 0.5,
    'a refused POST, statements': 0.5,
    '/facilitator/verify, statements': 1.6,
    '/transaction/send, ETH, statements': 5,
    'hosted send until durable, ETH, statements': 45,
    '/facilitator/settle, statements': 55,
  },
  start: { 'idle memory, all': 900 },
}
