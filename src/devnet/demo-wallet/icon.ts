const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#7a4b12"/><path d="M7 11h15a3 3 0 0 1 3 3v8a3 3 0 0 1-3 3H9a3 3 0 0 1-3-3V10a3 3 0 0 1 3-3h12" fill="none" stroke="#fff" stroke-width="2"/><circle cx="20" cy="18" r="2" fill="#fff"/></svg>'

export const ICON = `data:image/svg+xml;base64,${btoa(svg)}` as const
export const NAME = 'Demo wallet'
