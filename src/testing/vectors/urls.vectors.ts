import { readCheckoutJson } from './read-vectors.ts'
import { testUrls, UrlCases } from './url-cases.ts'

/** A newer copy than that of `urls.test.ts`. */
testUrls(readCheckoutJson('rust-url/url/tests/urltestdata.json', UrlCases), {
  count: 869,
  allowed: 21,
})
