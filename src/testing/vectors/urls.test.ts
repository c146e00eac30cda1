import { readVendored } from './read-vectors.ts'
import { testUrls, UrlCases } from './url-cases.ts'

testUrls(readVendored('whatwg-urls/urltestdata.json.gz', UrlCases), { count: 687, allowed: 11 })
