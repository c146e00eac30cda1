let skewMs = 0

/** Notes the server's clock as it was when `receivedAt` (ours) was read. Unix milliseconds. */
export function setServerTime(serverNow: number, receivedAt: number): void {
  skewMs = serverNow - receivedAt
}

/** How far this browser's clock is behind the server's. */
export function clockSkewMs(): number {
  return skewMs
}

/** The time by the server's clock. */
export function serverNow(): number {
  return Date.now() + skewMs
}
